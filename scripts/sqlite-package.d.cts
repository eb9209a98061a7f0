export const SQLITE_OPTION: string;
export const SQLITE_PACKAGE: 'better-sqlite3' | 'better-sqlite3-13';
