/**
 * Loaded before each test file of `npm test`: random cases are the same ones each time, so that no
 * run fails for what nobody has changed. `node --test FILE` takes new cases.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: 1 });
