/** A loop that is never run, and the end of an iteration that did nothing. */
export function order(name, change = {}) {
  const settings = { prompt_file: '/p.md', max_iterations: 1000, done_pattern: null, inactivity_timeout: 60 };
  return { name, command: ['claude'], cwd: '/', env: {}, tags: [], settings, options: {}, ...change };
}

export function ended() {
  return { at: Date.now(), how: 'exited', exitCode: 0, doneMatched: false };
}
