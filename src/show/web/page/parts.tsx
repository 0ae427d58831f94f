import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

type CardProps = {
  readonly title: string;
  readonly looks?: string;
  /** Stands next to the heading. */
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
};

export function Card({ title, looks = '', beside, children }: CardProps) {
  return (
    <section class={`card ${looks}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {beside}
      </header>
      {children}
    </section>
  );
}

/** A number and what it counts. */
export function Figure({
  name,
  value,
  looks = '',
}: Readonly<Record<'name' | 'value', string>> & { looks?: string }) {
  return (
    <div class={`figure ${looks}`}>
      <b>{value}</b>
      <span>{name}</span>
    </div>
  );
}

export function Note({ text }: { readonly text: string }) {
  return <p class="note">{text}</p>;
}

/** Text that somebody else wrote, as it is. */
export function Verbatim({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <pre class="text" tabIndex={0} role="group" aria-label={label}>
      {text}
    </pre>
  );
}

/** Sign of a check that passed, failed, (null) still runs, or passed with a warning. */
export function signOf(ok: boolean | null, warning = false): string {
  if (warning) return '!';
  return ok === null ? '…' : ok ? '✓' : '✗';
}

type TableProps = {
  readonly looks: string;
  readonly heads: readonly string[];
  readonly caption?: string;
  readonly rows: readonly {
    readonly ok: boolean | null;
    readonly warning?: boolean;
    readonly cells: readonly ComponentChildren[];
  }[];
};

/** Results, each with its sign in the first column. */
export function Results({ looks, heads, caption, rows }: TableProps) {
  return (
    <table class={looks}>
      {caption && <caption>{caption}</caption>}
      <thead>
        <tr>
          {['Result', ...heads].map((head) => (
            <th scope="col">{head}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ ok, warning, cells }) => (
          <tr>
            <td
              class={warning ? 'doubt' : ok === false ? 'no' : 'yes'}
              aria-label={warning ? 'look at it' : ok === false ? 'failed' : 'passed'}
            >
              {signOf(ok, warning)}
            </td>
            {cells.map((cell) => (
              <td>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Names and what they stand for; those without a value are left out. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [ComponentChildren, ComponentChildren])[];
}) {
  return (
    <dl>
      {facts.map(
        ([name, value]) =>
          value && (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ),
      )}
    </dl>
  );
}

type AnswerProps<T> = { readonly ask: () => Promise<T>; readonly show: (answer: T) => ComponentChildren };

/** Asks the server once, and shows its answer. Needs a `key` that changes with the question. */
export function Answer<T>({ ask, show }: AnswerProps<T>) {
  const [content, setContent] = useState<ComponentChildren>(<Note text="One moment…" />);
  useEffect(() => {
    let isWanted = true;
    ask()
      .then(show, ({ message }: Error) => <Note text={message} />)
      .then((answer) => isWanted && setContent(answer));
    return () => {
      isWanted = false;
    };
  }, []);
  return <>{content}</>;
}

/** The inner width of an element in pixels, 0 before it is known. */
export function useWidth(): readonly [RefObject<HTMLDivElement>, number] {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measure = () => setWidth(ref.current?.clientWidth ?? 0);
    const observer = new ResizeObserver(() => requestAnimationFrame(measure));
    if (ref.current) observer.observe(ref.current);
    measure();
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

/** Returns the pointer's distance from the left edge of the listening element. */
export function pointerX({ clientX, currentTarget }: MouseEvent): number {
  return clientX - (currentTarget instanceof Element ? currentTarget.getBoundingClientRect().left : 0);
}
