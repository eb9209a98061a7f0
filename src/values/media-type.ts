/** What is rendered and parsed. */
export const JSON_MEDIA_TYPE = 'application/json';
