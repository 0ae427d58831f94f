/** A text of at most about this length: its end says what to do instead, so that the middle goes. */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const half = longest / 2;
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}
