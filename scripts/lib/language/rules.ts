/**
 * The words that this project does not use, and what it says instead. The dictionary behind them is
 * that of Kubernetes, VPP, ligato, Cilium, Antrea and Calico: a reader who knows these must know each
 * name and each sentence on first sight.
 */

/** Where a rule applies. */
export type Scope =
  /** Comments, texts in the code, documentation. */
  | 'text'
  /** Identifiers and file names, word by word (`ownedByHost` has the words owned, by and host). */
  | 'name'
  | 'both';

export interface WordRule {
  /** A name for counts. */
  readonly label: string;
  /** Matched without case; against whole texts, or against each word of a name. */
  readonly pattern: RegExp;
  readonly scope: Scope;
  readonly say: string;
}

const rule = (label: string, scope: Scope, alternatives: string, say: string): WordRule => ({
  label,
  scope,
  pattern: new RegExp(`\\b(?:${alternatives})\\b`, 'gi'),
  say,
});

export const wordRules: readonly WordRule[] = [
  rule('wish', 'both', 'wish(es|ed)?', 'desired value, desired state'),
  rule('aim', 'both', 'aim(s|ed)?', 'target'),
  rule('foreign', 'both', 'foreign|strangers?', 'unmanaged'),
  rule(
    'ours',
    'text',
    "of ours|not ours|is ours|are ours|nobody[’']s",
    'managed, unmanaged, owned',
  ),
  rule('stray', 'both', 'stray(s|ed)?', 'orphan, stale'),
  rule('hindered', 'both', 'hinder(s|ed)?|bounced|troubled', 'blocked by'),
  rule('pinned, held', 'name', 'pins|pinned|held|resting|frozen', 'blocked'),
  rule('knot', 'both', 'knots?', 'strongly connected component, cycle'),
  rule('trouble', 'both', 'troubles?', 'fault, failure, problem'),
  rule('hostile', 'both', 'hostile', 'malformed, fuzzing'),
  rule('walker', 'both', 'walkers?', 'packet trace, tracer'),
  rule('chance', 'text', 'by chance|chance', 'random, random source'),
  rule('rests on', 'text', 'rests? on|rested on|stands? on', 'depends on'),
  rule('nobody', 'text', 'nobody|no one', 'none, no client, no caller'),
  rule('somebody', 'text', 'whoever|somebody|anybody', 'the client, caller or component'),
  rule('anew', 'text', 'anew', 'again, from the start'),
  rule('shall', 'text', 'shall', 'must, may, or the plain present'),
  rule('be had', 'text', '(can|could|cannot|can’t|is to|not to) be had', 'available, unavailable'),
  rule('makes no sense', 'text', 'makes? no sense|made no sense', 'is invalid, is malformed'),
  rule('lies low', 'text', 'lies? low|forgets?|forgot', 'is unavailable, drops'),
  rule('becomes of', 'text', 'bec(omes|ame) of', 'outcome, result'),
  rule('holds against', 'text', 'h(o|e)lds? (\\w+ ){0,5}against', 'compare with'),
  rule('at a stretch', 'text', 'at a stretch', 'in one slice, at once'),
  rule('room', 'text', 'rooms?|the house', 'folder, module, layout'),
  rule(
    'gone, away',
    'text',
    '(is|are|was|were|be|has|have|been) (away|gone)',
    'is unavailable, disconnected, deleted',
  ),
  rule('stands', 'text', 'stands?(?! for|-)|stood(?! for)|lies', 'is'),
  rule('goes on', 'text', 'goes on|go on|went on|going on', 'continues'),
  rule('speaks', 'text', 'speaks?|spoken|spoke', 'supports'),
  rule('told', 'text', 'told|tells? (of|about|the|it)', 'reports, specifies'),
  rule('for good', 'text', 'for good', 'permanently'),
  rule('half-way', 'text', 'half-way', 'partially'),
  rule('what is there', 'text', 'what (is|was|are) there', 'actual state'),
  rule('gives away', 'text', 'gives? away|gave away|given away', 'passes the ownership of'),
  rule(
    'names of test files',
    'both',
    'proving[- ]ground|patience|witness',
    'a name that says the role in the test',
  ),
  rule(
    'British spelling',
    'both',
    'neighbours?|catalogues?|behaviours?|colours?|honours?|favours?|unlabelled|(serial|recogn|initial|normal|optim|organ|summar)is(e|ed|es|ing|ation|ations|able)',
    'the American spelling',
  ),
  {
    label: 'comment that begins with a relative clause',
    pattern: /^\/\*\*\s+(What|Who|Whoever|Whose|Where)\b/g,
    scope: 'text',
    say: 'a noun: the thing that is described',
  },
];

/** Names of files that say nothing about the role of what is in them. */
export const vagueFileNames: ReadonlySet<string> = new Set(
  `opening wishes effects study knots pins listing continuity watched guarded owners look book site
  items stolen section known places shown planned placed life part parts wire refused used tolerated
  stray listed play doers tape work standing bare told patience proving-ground witness bad-link stuff
  misc helpers utils`.split(/\s+/),
);

/** Globals of Node.js that no function, constant or import of ours may shadow. */
export const nodeGlobals: ReadonlySet<string> = new Set([
  'require',
  'module',
  'exports',
  'process',
  'global',
  'console',
  'performance',
  'crypto',
  'fetch',
  'Buffer',
  'URL',
  'queueMicrotask',
  'structuredClone',
  'setTimeout',
  'setInterval',
  'setImmediate',
]);

/** Correct uses of such a word. */
export const exceptions: readonly {
  readonly file: RegExp;
  readonly text: RegExp;
  readonly why: string;
}[] = [
  {
    file: /^src\/vpp\/descriptors\/l3\/vrf-table\.ts$/,
    text: /unlabelled/,
    why: 'the name is written into VPP: another spelling would rename tables at an upgrade',
  },
];
