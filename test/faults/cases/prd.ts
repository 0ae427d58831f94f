import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { aStory } from '../../core/review-examples.ts';
import { tasksJson } from '../../drive/prd/support.ts';
import { isKill, run } from '../fault.ts';
import { type Case, endProblems, journalProblems, placesWith } from '../place.ts';
import { claudeStream, orphans } from './run.ts';

/** Implements the story in its first turn and approves it in the next. */
const agent = `#!/bin/sh
cat > /dev/null
text='Done.'
change() { sed -i -e "$1" ralph/tasks.json && echo work >> ralph/progress.txt && git commit -qam work; }
case $(cat ralph/tasks.json) in
*needs_review*) change 's/"needs_review"/"approved"/; s/"passes": false/"passes": true/; s/"reviewCount": 0/"reviewCount": 1/; s/"notes": ""/"notes": "ok"/' ;;
*'"reviewStatus": null'*) change 's/"reviewStatus": null/"needs_review"/; s/"needs_review"/"reviewStatus": "needs_review"/' ;;
esac
case $(cat ralph/tasks.json) in *'"passes": true'*) text='<promise>COMPLETE</promise>' ;; esac
${claudeStream}`;

const openPlace = placesWith({
  'bin/claude': agent,
  'repo/.gitignore': '.ralph-active\n',
  'repo/ralph/prd.md': '# Demo\n',
  'repo/ralph/prompt.md': 'Print <promise>COMPLETE</promise> when done.\n',
  'repo/ralph/progress.txt': '# Ralph Progress Log\n',
  'repo/ralph/tasks.json': tasksJson(aStory('US-001')),
});

/** `ralph prd run` over one story: implemented, reviewed, approved. */
export function prdCase(): Case {
  const place = openPlace();
  const command = place.command('ralph', 'prd', 'run', '--no-sandbox');
  return {
    ...place,
    command,
    async problems(end, fault) {
      const problems = endProblems(end, fault);
      if (fault === null || !isKill(fault)) problems.push(...orphans(place));
      if (end.code !== 0) {
        const next = await run(command);
        if (next.code !== 0) problems.push(`going on ended with ${next.code}: ${next.stderr || next.stdout}`);
      }
      const { userStories } = JSON.parse(readFileSync(join(place.cwd, 'ralph/tasks.json'), 'utf8'));
      const { passes, reviewStatus } = userStories[0];
      if (!passes || reviewStatus !== 'approved') problems.push(`the story: ${passes} ${reviewStatus}`);
      problems.push(...journalProblems(join(place.cwd, '.ralph/runs')), ...orphans(place));
      return problems;
    },
  };
}
