/** Shortens a text to about this length. Cuts its middle, since its end says what to do instead. */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const half = longest / 2;
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}
