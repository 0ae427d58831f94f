import { join } from 'node:path';
import { RalphError } from '../../core/error.ts';
import { readText } from '../../os/files/files.ts';

/** The page as it was built. */
export type Page = { readonly html: string; readonly script: string; readonly style: string };

export function readPage(folder: string): Page {
  return {
    html: read(join(folder, 'index.html')),
    script: read(join(folder, 'app.js')),
    style: read(join(folder, 'app.css')),
  };
}

function read(path: string): string {
  const text = readText(path);
  if (text !== null) return text;
  throw new RalphError('page-missing', `a part of the dashboard is missing: ${path}`, {
    remedy: 'npm install -g ralphkit',
  });
}
