export { metered, type Metering, type Usage } from './metered.js';
