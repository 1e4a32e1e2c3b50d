/** What the catalog's features are called here. */
export const FEATURES = { gold: 'a palette of gold' };
