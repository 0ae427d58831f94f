import type { Handlers } from '../call.ts';
import { byName, denying } from './rules.ts';

const unasked =
  /^--(dangerously-[\w-]+|yolo|allow-all(-tools)?|auto-approve[\w-]*|permission-mode[= ]bypassPermissions|approval-mode[= ]yolo|sandbox[= ]danger-full-access)$/;

export const agents: Handlers = byName(
  {
    'claude codex gemini qwen amp opencode copilot cline crush goose': (call) => {
      const pairs = call.words.map((word, i) => `${word} ${call.words[i + 1] ?? ''}`);
      const what = `starts ${call.name}, which then asks nobody and is seen by no guard`;
      if ([...call.words, ...pairs].some((words) => unasked.test(words)))
        call.deny('privilege', what, 'Do the work yourself, or start it without that option.');
    },
  },
  denying('loop-state', 'speaks as the person that the loop belongs to', {
    ralph: /^(answer|note|unpause|trust(?! --show( --json)?$))\b/,
    swarm: /^(send|ralph resume)\b/,
  }),
  denying('agent-settings', 'changes what you may do', {
    claude:
      /^config (set|add|remove)\b.*\b(hooks|permission|disable)|^plugin (uninstall|remove|rm|disable)\b/i,
    ralph: /^uninstall\b/,
  }),
);
