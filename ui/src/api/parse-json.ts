/** JSON with all digits of its numbers, as the server reads and writes it. */
export { exactMember, ExactNumber, parseJson, writeJson } from '../../../src/core/values/exact-numbers.js';
