/** The human-readable label of a field, as in DRF: `question_text` is `Question text`, `id` is `ID`. */
export function labelOf(name: string): string {
  if (name === 'id') return 'ID';
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .split(/[_.\s]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
