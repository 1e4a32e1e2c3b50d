export { metered, type Metering } from './metered.js';
export { usageOf, usualTokens, type Unit, type Usage } from './usage.js';
