/** What the deletion of a row does to those that refer to it: they are deleted, their foreign keys change, or they prevent it. */
export type DeleteEffect = 'cascade' | 'change' | 'restrict';
