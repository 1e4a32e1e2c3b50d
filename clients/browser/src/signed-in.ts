// What only pages with a session need: loaded when the first one does.
export { listen } from './live.js';
export { Sessions } from './session.js';
