export { ScripError, isPassing, isScripError } from './error.js';
export { Http, newKey, pause, segment, unlessAborted, type Call, type HttpOptions } from './http.js';
export { entries } from './pages.js';
export type * from './types.js';
export type { ServiceErrorCode, components, queries } from './api.generated.js';
