import type { OwnSession } from '../agent.ts';

export const ownSession: OwnSession = {
  option: '--session-id',
  otherOptions: ['--resume', '-r', '--continue', '-c', '--fork-session'],
  transcriptFolders: ({ CLAUDE_CONFIG_DIR }, home) => `${CLAUDE_CONFIG_DIR || `${home}/.claude`}/projects`,
  transcriptName: (session) => `${session}.jsonl`,
  compaction: /"subtype":\s?"compact_boundary"|"isCompactSummary":\s?true/,
};
