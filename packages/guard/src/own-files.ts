import { NETWORK } from './marks.ts';

/** Files that the command itself wrote, with what is in them. */
export class OwnFiles extends Map<string, string> {
  readonly #folders = new Set<string>();
  hasFetched = false;

  override set(path: string, content: string): this {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at);
      if (this.#folders.has(folder)) break;
      this.#folders.add(folder);
    }
    if (content.includes(NETWORK)) this.hasFetched = true;
    return super.set(path, content);
  }

  below(folder: string): [string, string][] {
    if (!this.#folders.has(folder)) return [];
    return [...this].filter(([path]) => path.startsWith(`${folder}/`));
  }
}
