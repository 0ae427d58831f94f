/** Instruction of a kernel filter: code, how far to jump if true, if false, and a number. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** Numbers of system calls on one kind of processor. */
type Calls = {
  readonly architecture: number;
  /** add_key, request_key and keyctl, for the kernel's keyrings. */
  readonly keys: readonly number[];
  readonly socket: number;
  /** Opens sockets by an address in memory, which a filter cannot look at. */
  readonly socketCall?: number;
  /** Numbers from here on belong to a third kind of processor. */
  readonly end?: number;
};

const notImplemented = 38;
const familyNotSupported = 97;
/** Makes a queue through which every other call gets past the filter. */
const ioUringSetup = 425;
/** Sockets to the host of a virtual machine, from every network namespace. */
const vsock = 40;

/** By Node's name of the processor, each with its 32-bit kind. */
const callsByProcessor: Readonly<Record<string, readonly Calls[]>> = {
  x64: [
    { architecture: 0xc000003e, keys: [248, 249, 250], socket: 41, end: 0x40000000 },
    { architecture: 0x40000003, keys: [286, 287, 288], socket: 359, socketCall: 102 },
  ],
  arm64: [
    { architecture: 0xc00000b7, keys: [217, 218, 219], socket: 198 },
    { architecture: 0x40000028, keys: [309, 310, 311], socket: 281 },
  ],
};

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const answer = (value: number): Instruction => [0x06, 0, 0, value];
const allow = answer(0x7fff0000);
const fail = (error: number) => answer(0x00050000 | error);
const ifEqual = (value: number, then: readonly Instruction[]): readonly Instruction[] => [
  [0x15, 0, then.length, value],
  ...then,
];
const [callNumber, architecture, firstWord] = [load(0), load(4), load(16)];

/**
 * Returns a kernel filter for what namespaces do not keep apart: the user's keyrings, and sockets to the host of a
 * virtual machine. Null for an unknown processor.
 */
export function callFilter(processor: string = process.arch): Buffer | null {
  const kinds = callsByProcessor[processor];
  if (kinds === undefined) return null;
  const blocks = kinds.flatMap((calls) => ifEqual(calls.architecture, filterFor(calls)));
  return encode([architecture, ...blocks, fail(notImplemented)]);
}

function filterFor({ keys, socket, socketCall, end }: Calls): Instruction[] {
  const missing = [fail(notImplemented)];
  return [
    callNumber,
    ...(end === undefined ? [] : [[0x35, 0, 1, end] as const, ...missing]),
    ...[...keys, ioUringSetup].flatMap((number) => ifEqual(number, missing)),
    ...(socketCall === undefined
      ? []
      : ifEqual(socketCall, [firstWord, ...ifEqual(1, [fail(notImplemented)]), allow])),
    ...ifEqual(socket, [firstWord, ...ifEqual(vsock, [fail(familyNotSupported)]), allow]),
    allow,
  ];
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
