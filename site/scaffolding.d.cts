/** The file that an example of a document stands for, with the imports and the module that it leaves out. */
export function wholeExample(source: string): string;
