import { join } from 'node:path';
import { RalphError } from '../../core/error.ts';
import { listDir, readText } from '../../os/files/files.ts';

/** The page as it was built. */
export type Page = {
  readonly html: string;
  /** The script of the first page and those that it loads later, by file name. */
  readonly scripts: ReadonlyMap<string, string>;
  /** All of them in one, for a report. */
  readonly whole: string;
  readonly style: string;
};

export function readPage(folder: string): Page {
  const names = listDir(folder).filter((name) => name.endsWith('.js') && name !== 'whole.js');
  return {
    html: read(join(folder, 'index.html')),
    scripts: new Map(names.map((name) => [name, read(join(folder, name))])),
    whole: read(join(folder, 'whole.js')),
    style: read(join(folder, 'app.css')),
  };
}

function read(path: string): string {
  const text = readText(path);
  if (text !== null) return text;
  throw new RalphError('page-missing', `a part of the dashboard is missing: ${path}`, {
    remedy: 'npm run build in the clone of ralphkit',
  });
}
