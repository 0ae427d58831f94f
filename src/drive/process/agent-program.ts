import { isAbsolute } from 'node:path';
import { contentMark } from '../../os/files/file-marks.ts';
import { fileStamp } from '../../os/files/files.ts';
import { realPath } from '../../os/files/real-path.ts';
import type { RunSpec } from './run-spec.ts';

/** Watches the agent's program from now on. The returned function says whether it is another one by now. */
export function watchProgram({ program }: RunSpec['agent']): () => boolean {
  // A sandbox may bring an agent of its own, which is a name only.
  if (!isAbsolute(program)) return () => false;
  const content = contentMark(realPath(program));
  let stamp = stampOf(program);
  return () => {
    if (stampOf(program) === stamp) return false;
    // Large programs are read only if something happened to them.
    if (contentMark(realPath(program)) !== content) return true;
    stamp = stampOf(program);
    return false;
  };
}

function stampOf(program: string): string {
  return `${realPath(program)} ${fileStamp(program)}`;
}
