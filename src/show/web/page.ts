import { join } from 'node:path';
import { RalphError } from '../../core/error.ts';
import { listDir, readText } from '../../os/files/files.ts';

export type Page = ReturnType<typeof readPage>;

/** Reads the page as it was built. */
export function readPage(folder: string) {
  const names = listDir(folder).filter((name) => name.endsWith('.js') && name !== 'whole.js');
  return {
    html: read(join(folder, 'index.html')),
    /** The script of the first page and those that it loads later, by file name. */
    scripts: new Map(names.map((name) => [name, read(join(folder, name))])),
    /** All of them in one, for a report. */
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
