import type { RalphLoopConfig } from './types.ts';

export const HOOK_NAME = 'ralph-loop';

export const DEFAULT_MAX_ITERATIONS = 100;
export const DEFAULT_COMPLETION_PROMISE = 'DONE';
export const DEFAULT_CONTINUATION_DELAY = 500;
export const DEFAULT_RECOVERY_WINDOW = 5000;

export const DEFAULT_CONFIG: RalphLoopConfig = {
  enabled: true,
  defaultMaxIterations: DEFAULT_MAX_ITERATIONS,
  defaultCompletionPromise: DEFAULT_COMPLETION_PROMISE,
  continuationDelay: DEFAULT_CONTINUATION_DELAY,
};

// The two spaces after "left off" are part of the text that hosts match on.
export const CONTINUATION_PROMPT_TEMPLATE = `[RALPH LOOP - ITERATION {{ITERATION}}/{{MAX}}]

Your previous attempt did not output the completion promise. Continue working on the task.

IMPORTANT:
- Review your progress so far
- Continue from where you left off  
- When FULLY complete, output: <promise>{{PROMISE}}</promise>
- Do not stop until the task is truly done

Original task:
{{PROMPT}}`;
