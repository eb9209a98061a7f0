/** How errors are told: as Django REST Framework does, or as RFC 9457 has it. */
export type ErrorFormat = 'drf' | 'problem';
