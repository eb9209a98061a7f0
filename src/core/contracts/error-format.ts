/** The format of error bodies: that of Django REST Framework, or of RFC 9457 (`application/problem+json`). */
export type ErrorFormat = 'drf' | 'problem';
