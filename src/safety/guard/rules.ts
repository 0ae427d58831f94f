/** What the hook loads for a command that is not an everyday one. */
export { keepDenial } from './denials.ts';
export { guardHook, placeOf } from './hook.ts';
