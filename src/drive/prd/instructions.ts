import { agents } from '../../agents/registry.ts';
import { changedBetween, markFiles } from '../../os/files/file-marks.ts';
import { walkFiles } from '../../os/files/walk.ts';

/** Fingerprints of the files that instruct agents, by their paths from the top of the project. */
export type InstructionMarks = Readonly<Record<string, string>>;

const mostFiles = 2000;
const maxBytes = 8 * 1024 * 1024;
const names =
  /(^|\/)((claude|agents|gemini|qwen)(\.\w+)?\.md|copilot-instructions\.md|\.(cursor|windsurf)rules)$/i;
/** Files and folders that an agent obeys, in whichever folder of the project. */
const obeyed = ['.cursor', '.agents', ...Object.values(agents).flatMap(({ sandbox }) => sandbox.obeys)].map(
  (each) => `/${typeof each === 'string' ? each : each.path}/`,
);

/** Takes the fingerprints; `progress` is the log that the agents of a PRD read. */
export function markInstructions(top: string, progress: string): InstructionMarks {
  const paths: string[] = [];
  for (const path of walkFiles(top)) {
    const isOne = path === progress || names.test(path) || obeyed.some((each) => `/${path}/`.includes(each));
    if (isOne && paths.push(path) >= mostFiles) break;
  }
  return Object.fromEntries(markFiles(top, paths, maxBytes));
}

/** Returns a line for each file that differs. */
export function changedInstructions(before: InstructionMarks, after: InstructionMarks): string[] {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return changedBetween(old, now)
    .sort()
    .map((path) => `- ${path} (${!old.has(path) ? 'new' : now.has(path) ? 'changed' : 'removed'})`);
}
