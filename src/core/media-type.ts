/** The media type of bodies. */
export const JSON_MEDIA_TYPE = 'application/json';

/** The media type of errors with `errorFormat: 'problem'` (RFC 9457). */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json';
