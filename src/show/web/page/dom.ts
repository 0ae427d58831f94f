type Props = {
  readonly class?: string;
  readonly text?: string;
  readonly title?: string;
  readonly on?: Readonly<Record<string, (event: Event) => void>>;
  readonly attrs?: Readonly<Record<string, string | number | boolean | null>>;
};
type Child = Node | string | null | false;

/** An element. Words only ever get in as text, so that nothing an agent writes becomes part of the page. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (props.class) element.className = props.class;
  if (props.title) element.title = props.title;
  if (props.text !== undefined) element.textContent = props.text;
  for (const [name, value] of Object.entries(props.attrs ?? {})) {
    if (value !== null && value !== false) element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const [name, listener] of Object.entries(props.on ?? {})) element.addEventListener(name, listener);
  for (const child of children) if (child) element.append(child);
  return element;
}

/** An element of a picture. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attrs: Readonly<Record<string, string | number>> = {},
  ...children: (Node | null)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attrs)) element.setAttribute(name, String(value));
  for (const child of children) if (child) element.append(child);
  return element;
}

export function label(x: number, y: number, text: string, className: string): SVGTextElement {
  const element = svg('text', { x, y, class: className });
  element.textContent = text;
  return element;
}

/** A part of the page under its heading; `beside` stands next to that. */
export function card(
  title: string,
  { looks = '', beside = null }: { readonly looks?: string; readonly beside?: Child },
  ...children: Child[]
): HTMLElement {
  return h(
    'section',
    { class: `card ${looks}`.trim(), attrs: { 'aria-label': title } },
    h('header', {}, h('h2', { text: title }), beside),
    ...children,
  );
}

/** A number and what it counts. */
export function figure(name: string, value: string, looks = ''): HTMLElement {
  return h('div', { class: `figure ${looks}`.trim() }, h('b', { text: value }), h('span', { text: name }));
}

/** Words in small print. */
export function note(text: string): HTMLElement {
  return h('p', { class: 'note', text });
}

export function table(
  looks: string,
  heads: readonly string[],
  rows: readonly (readonly HTMLElement[])[],
): HTMLTableElement {
  const head = h('tr', {}, ...heads.map((text) => h('th', { text, attrs: { scope: 'col' } })));
  const body = h('tbody', {}, ...rows.map((cells) => h('tr', {}, ...cells)));
  return h('table', { class: looks }, h('thead', {}, head), body);
}

/** Puts these in the place of what is there. */
export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(...children.filter((child) => child !== null && child !== false));
}

export function button(text: string, onClick: () => void, props: Props = {}): HTMLButtonElement {
  const { attrs, ...rest } = props;
  return h('button', {
    ...rest,
    text,
    attrs: { type: 'button', ...attrs },
    on: { click: onClick, ...props.on },
  });
}

/** Calls `draw` once in the next frame, however often it is asked for. */
export function oncePerFrame(draw: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };
}
