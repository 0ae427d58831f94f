import { isAbsolute } from 'node:path';
import { contentMark } from '../../os/files/file-marks.ts';
import { fileStamp } from '../../os/files/files.ts';
import { realPath } from '../../os/files/real-path.ts';
import { fileSize } from '../../os/files/scan-lines.ts';
import type { RunSpec } from './run-spec.ts';

/** Larger programs are told apart by their times alone: to read them takes as much memory as they have. */
const maxBytes = 16 * 1024 * 1024;

/** Watches the agent's program from now on. The returned function says whether it is another one by now. */
export function watchProgram({ program }: RunSpec['agent']): () => boolean {
  // A sandbox may bring an agent of its own, which is a name only.
  if (!isAbsolute(program)) return () => false;
  const mark = markOf(program);
  const stamp = stampOf(program);
  return () => stampOf(program) !== stamp && markOf(program) !== mark;
}

function markOf(program: string): string {
  const path = realPath(program);
  return (fileSize(path) ?? 0) > maxBytes ? stampOf(program) : contentMark(path);
}

function stampOf(program: string): string {
  return `${realPath(program)} ${fileStamp(program)}`;
}
