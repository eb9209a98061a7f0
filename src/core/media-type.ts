/** What is rendered and parsed. */
export const JSON_MEDIA_TYPE = 'application/json';

/** Errors of a prefix that tells them as RFC 9457 does. */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json';
