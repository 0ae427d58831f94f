/** Places and names of this machine, each with what stands for it in a recording. */
export type Known = Readonly<Record<string, string>>;

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
/** `ses_e1eb0b99affee4vPd8PlWneiey`: a short name, then a long random word with a digit in it. */
const namedId = /\b([A-Za-z]{2,12}[_-])(?=[A-Za-z_-]*\d)(?=\d*[A-Za-z])([A-Za-z0-9]{16,})\b/g;

/**
 * Takes out of a stream what belongs to the machine and the moment of its recording. The same id always becomes the
 * same neutral one, so that what belongs together still does.
 */
export function createNeutralizer(known: Known): (text: string) => string {
  // The longest first: a folder before the folder that it is in.
  const places = Object.entries(known)
    .filter(([from]) => from !== '')
    .sort(([a], [b]) => b.length - a.length);
  const ids = new Map<string, number>();
  const numberOf = (id: string): number => {
    const number = ids.get(id) ?? ids.size + 1;
    ids.set(id, number);
    return number;
  };
  return (text) =>
    places
      .reduce((result, [from, to]) => result.replaceAll(from, to), text)
      .replace(uuid, (id, version: string) => {
        return `00000000-0000-${version}000-8000-${String(numberOf(id)).padStart(12, '0')}`;
      })
      .replace(namedId, (id, name: string, word: string) => {
        return `${name}${String(numberOf(id)).padStart(word.length, '0')}`;
      });
}

/** What of the machine is still in the text. */
export function tracesIn(text: string, words: readonly string[]): string[] {
  return words.filter((word) => word.length > 3 && text.includes(word));
}
