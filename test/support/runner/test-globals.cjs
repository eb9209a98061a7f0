'use strict';

/** What `@jest/globals` exports in the CommonJS world: bound anew for each file of tests. */
globalThis.restifyBindTestGlobals = (globals) => Object.assign(module.exports, globals);
