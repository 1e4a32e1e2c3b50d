export { metered, type ByCard, type ByCost, type Metering } from './metered.js';
export { usageOf, usualTokens, type Unit, type Usage } from './usage.js';
