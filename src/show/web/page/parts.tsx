import { signal } from '@preact/signals';
import type { ComponentChildren, ComponentProps, ComponentType, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Verdict } from '../../../core/loop.ts';
import { isConnected } from './state.ts';

type CardProps = {
  readonly title: string;
  readonly looks?: string;
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

export function Figure({ name, value }: Readonly<Record<'name' | 'value', string>>) {
  return (
    <div class="figure">
      <b>{value}</b>
      <span>{name}</span>
    </div>
  );
}

type ButtonProps = ComponentProps<'button'> & { readonly text: string | number; readonly looks?: string };

export function SmallButton({ text, looks = '', ...attributes }: ButtonProps) {
  return (
    <button type="button" class={`small-button ${looks}`} {...attributes}>
      {text}
    </button>
  );
}

export function Note({ text }: { readonly text: string }) {
  return <p class="note">{text}</p>;
}

type MessageProps = {
  readonly title: string;
  readonly text?: string;
  readonly children?: ComponentChildren;
};

/** A page that has nothing else to show. */
export function Message({ title, text, children }: MessageProps) {
  return (
    <main class="refused" id="main">
      <h1>{title}</h1>
      <p>{text}</p>
      {children}
    </main>
  );
}

type CommandProps = Readonly<Record<'name' | 'command', string>> & { readonly children?: ComponentChildren };

/** A command to type, with a button that copies it. */
export function Command({ name, command, children }: CommandProps) {
  return (
    <p class="next">
      <span>{name}</span>
      <code>{command}</code>
      <SmallButton text="Copy" onClick={() => navigator.clipboard?.writeText(command)} />
      {children}
    </p>
  );
}

/** Text that somebody else wrote, as it is. */
export function Verbatim({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <pre class="text" tabIndex={0} role="group" aria-label={label}>
      {text}
    </pre>
  );
}

/** Sign of a check that passed, failed, or (null) still runs. */
export function signOf(ok: boolean | null): string {
  return ok === null ? '…' : ok ? '✓' : '✗';
}

type TableProps = {
  readonly label: string;
  readonly looks?: string;
  readonly caption?: string;
  readonly heads: readonly ComponentChildren[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  /** The column that names a row. */
  readonly nameAt?: number;
};

export function Table({ label, looks = 'grid', caption, heads, rows, nameAt = 0 }: TableProps) {
  return (
    <div class="table-box" tabIndex={0} role="group" aria-label={label}>
      <table class={looks}>
        {caption && <caption class="note">{caption}</caption>}
        <Heads heads={heads} />
        <tbody>
          {rows.map((cells) => (
            <tr>
              {cells.map((cell, at) => (at === nameAt ? <th scope="row">{cell}</th> : <td>{cell}</td>))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Heads({ heads }: Pick<TableProps, 'heads'>) {
  return (
    <thead>
      <tr>
        {heads.map((head) => (
          <th scope="col">{head}</th>
        ))}
      </tr>
    </thead>
  );
}

export function Evidence({ evidence, caption }: Pick<Verdict, 'evidence'> & { readonly caption?: string }) {
  return (
    <table class="evidence">
      {caption && <caption>{caption}</caption>}
      <Heads heads={['Result', 'Check', 'Found']} />
      <tbody>
        {evidence.map(({ check, detail, ok, warning }) => (
          <tr>
            <td
              class={warning ? 'doubt' : ok ? 'yes' : 'no'}
              aria-label={warning ? 'look at it' : ok ? 'passed' : 'failed'}
            >
              {warning ? '!' : signOf(ok)}
            </td>
            <td>{check}</td>
            <td>{detail}</td>
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

type AnswerProps<T> = {
  /** Changes with the question. */
  readonly of: string;
  readonly ask: () => Promise<T>;
  readonly show: (answer: T) => ComponentChildren;
};

/** Asks the server, and shows its last answer until the next one is there. */
export function Answer<T>({ of, ask, show }: AnswerProps<T>) {
  const [content, setContent] = useState<ComponentChildren>(<Note text="One moment…" />);
  useEffect(() => {
    let isWanted = true;
    ask()
      .then(show, ({ message }: Error) => <Note text={message} />)
      .then((answer) => isWanted && setContent(answer));
    return () => {
      isWanted = false;
    };
  }, [of]);
  return <>{content}</>;
}

/** A view whose script is loaded when it is first shown. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  Meanwhile: ComponentType = () => <Note text={waitingText()} />,
): ComponentType<P> {
  const part = signal<ComponentType<P> | null>(null);
  return (props: P) => {
    const isAnswering = isConnected.value;
    useEffect(() => {
      // Without a server it fails, and is asked for again when the server is back.
      load().then(
        (loaded) => (part.value = loaded),
        () => {},
      );
    }, [isAnswering]);
    const Part = part.value;
    return Part === null ? <Meanwhile /> : <Part {...props} />;
  };
}

function waitingText(): string {
  return isConnected.value === false ? 'The dashboard does not answer. Trying again…' : 'One moment…';
}

/** The page before its data has come. */
export function Waiting() {
  return <Message title={waitingText()} />;
}

export function Choice<T extends string>({ name, options, value, choose }: ChoiceProps<T>) {
  return (
    <div class="choice" role="group" aria-label={name}>
      {options.map(([option, label]) => (
        <button type="button" aria-pressed={option === value} onClick={() => choose(option)}>
          {label}
        </button>
      ))}
    </div>
  );
}

type ChoiceProps<T extends string> = {
  readonly name: string;
  readonly options: readonly (readonly [option: T, label: string])[];
  readonly value: T;
  readonly choose: (option: T) => void;
};

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
