import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeVariables } from '../../support/home.ts';
import { fireHook, plugin } from '../../support/hooks.ts';
import { type Case, journalProblems, outputProblems } from '../place.ts';

/** A stop of a session with a loop: sent back, then a claim that is accepted. */
export async function stopCase(): Promise<Case> {
  const root = mkdtempSync(join(tmpdir(), 'fault-'));
  const [cwd, home] = ['repo', 'home'].map((name) => join(root, name)) as [string, string];
  for (const folder of [cwd, home]) mkdirSync(folder);
  const env = { ...homeVariables(home), PATH: process.env.PATH ?? '', RALPH_TRUST: '1' };
  const transcript = join(root, 'transcript.jsonl');
  const input = { session_id: 's', cwd, transcript_path: transcript };
  await fireHook(
    'UserPromptSubmit',
    { ...input, prompt: '/ralph-loop Do it. --max-iterations 5' },
    { cwd, env },
  );
  writeFileSync(transcript, turn('one'));
  const stop = { hook_event_name: 'Stop', ...input, last_assistant_message: 'More to do.' };
  const sessions = join(home, '.local/state/ralph/sessions');
  return {
    root,
    command: {
      argv: [process.execPath, join(plugin, 'hooks/generated/stop.cjs')],
      cwd,
      env,
      input: JSON.stringify(stop),
    },
    close: () => rmSync(root, { recursive: true, force: true }),
    async problems({ code, signal, stdout, stderr }, fault) {
      const problems = outputProblems(`${stdout}${stderr}`);
      if (stdout !== '' && !isJson(stdout)) problems.push(`no JSON: ${stdout}`);
      if (fault === null && !stdout.includes('"block"')) problems.push(`not sent back: ${stdout}`);
      if (signal === null && code !== 0) problems.push(`ended with ${code}: ${stderr}`);
      appendFileSync(transcript, turn('two'));
      const claim = { ...input, last_assistant_message: '<promise>DONE</promise>' };
      const next = await fireHook('Stop', claim, { cwd, env });
      if (!next.stdout.includes('PROMISE_ACCEPTED')) problems.push(`the claim: ${next.stdout}${next.stderr}`);
      const left = readdirSync(sessions).filter((name) => name !== 'runs');
      if (left.length > 0) problems.push(`left lying: ${left.join(', ')}`);
      problems.push(...journalProblems(join(sessions, 'runs')));
      return problems;
    },
  };
}

function turn(id: string): string {
  const use = { type: 'tool_use', id, name: 'Bash', input: {} };
  const result = { type: 'tool_result', tool_use_id: id, content: 'ok' };
  return [
    { type: 'assistant', message: { role: 'assistant', content: [use] } },
    { type: 'user', message: { role: 'user', content: [result] } },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
