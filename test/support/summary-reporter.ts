import type { SerializedError } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';

/** Ends the output with `N passed, N failed, N skipped`, alone on its line, for programs that read it. */
export class SummaryReporter implements Reporter {
  #counts = { passed: 0, failed: 0, skipped: 0 };

  onInit(): void {
    // At exit and not at the end of the run: others still print after the run.
    process.once('exit', (code) => {
      const { passed, failed, skipped } = this.#counts;
      const failures = code === 0 ? failed : Math.max(failed, 1);
      process.stdout.write(`${passed} passed, ${failures} failed, ${skipped} skipped\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === 'pending' ? 'skipped' : state] += 1;
      }
    }
    this.#counts = counts;
  }
}
