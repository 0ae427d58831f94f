import type { Handler, Handlers } from '../model.ts';
import { byName, when } from './rules.ts';

/** Options by which agents do everything without asking. */
const unasked =
  /^--(dangerously-[\w-]+|yolo|allow-all(-tools)?|auto-approve[\w-]*|permission-mode[= ]bypassPermissions|approval-mode[= ]yolo|sandbox[= ]danger-full-access)$/;

/** An agent that is started by another one, without the hooks of the loop. */
const agent: Handler = (call) => {
  const pairs = call.words.map((word, i) => `${word} ${call.words[i + 1] ?? ''}`);
  if ([...call.words, ...pairs].some((words) => unasked.test(words)))
    call.deny(
      'privilege',
      `starts ${call.name}, which then asks nobody and is seen by no guard`,
      'Do the work yourself, or start it without that option.',
    );
};

const settings = when(
  /^config (set|add|remove)\b.*\b(hooks|permission|disable)|^plugin (uninstall|remove|rm|disable)\b/i,
  'agent-settings',
  'changes what you may do',
);

export const agents: Handlers = byName({
  'codex gemini qwen amp opencode copilot cline crush goose': agent,
  claude: (call) => {
    settings(call);
    return agent(call);
  },
});
