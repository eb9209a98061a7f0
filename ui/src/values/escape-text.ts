/**
 * Control characters, zero-width characters, and characters that change the direction or the look of the text around them.
 * Line breaks and tabs are kept.
 */
const INVISIBLE =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\u{E0000}-\u{E0FFF}]/gu;

/** The text with invisible characters as escapes: `‹U+202E›`. */
export function escapeText(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`;
  });
}
