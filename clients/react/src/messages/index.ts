export { de } from './de';
export { en, fill, type Messages } from './en';
export { fr } from './fr';
