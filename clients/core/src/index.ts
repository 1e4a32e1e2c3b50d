export { ScripError, isPassing, isScripError, type Unsettled } from './error.js';
export { Http, keyed, newKey, pause, retryDelay, segment, unlessAborted, type Bearer, type Call, type HttpOptions } from './http.js';
export { MAX_PAGE, entries } from './pages.js';
export { whole, wholeSubscription } from './wallet.js';
export type * from './events.js';
export type * from './types.js';
export { statuses, usageShapes, type ServiceErrorCode, type components, type queries } from './api.generated.js';
