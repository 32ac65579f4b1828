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

const words = (list: string, scope: Scope, say: string): WordRule => ({
  label: list.replace(/\(\?[^)]*\)|[()?\\]|\[.*\]/g, '').split('|')[0]!,
  pattern: new RegExp(`\\b(${list})\\b`, 'gi'),
  scope,
  say,
});

export const wordRules: readonly WordRule[] = [
  words('wish(es|ed)?', 'both', 'desired value, desired state'),
  words('aim(s|ed)?', 'both', 'target'),
  words('foreign|strangers?', 'both', 'unmanaged'),
  words(
    "(not |nobody is |none )?of ours|not ours|is ours|are ours|nobody[’']s",
    'text',
    'managed, unmanaged, owned',
  ),
  words('leftovers?|stray(s|ed)?', 'both', 'orphan, stale'),
  words('hinder(s|ed)?|bounced|troubled', 'both', 'blocked by'),
  words('pins|pinned|held|resting|frozen', 'name', 'blocked'),
  words('knots?', 'both', 'strongly connected component, cycle'),
  words('troubles?', 'both', 'fault, failure, problem'),
  words('hostile', 'both', 'malformed, fuzzing'),
  words('walkers?', 'both', 'packet trace, tracer'),
  words('by chance|chance', 'text', 'random, random source'),
  words('rests? on|rested on|stands? on', 'text', 'depends on'),
  words('nobody|no one', 'text', 'none, no client, no caller'),
  words('whoever|somebody|anybody', 'text', 'name the client, caller or component'),
  words('anew', 'text', 'again, from the start'),
  words('shall', 'text', 'must, may, or the plain present'),
  words('(can|could|cannot|can’t|is to|not to) be had', 'text', 'available, unavailable'),
  words('makes? no sense|made no sense', 'text', 'is invalid, is malformed'),
  words('lies? low|forgets?|forgot', 'text', 'is unavailable, drops'),
  words('(what )?bec(omes|ame) of', 'text', 'outcome, result'),
  words('h(o|e)lds? (\\w+ ){0,5}against', 'text', 'compare with'),
  words('at a stretch', 'text', 'in one slice, at once'),
  words('rooms?|the house', 'text', 'folder, module, layout'),
  words(
    '(is|are|was|were|be|has|have|been) (away|gone)',
    'text',
    'is unavailable, disconnected, deleted',
  ),
  words('stands?(?! for|-)|stood(?! for)|lies', 'text', 'is'),
  words('goes on|go on|went on|going on', 'text', 'continues'),
  words('speaks?|spoken|spoke', 'text', 'supports'),
  words('told|tells? (of|about|the|it)', 'text', 'reports, specifies'),
  words('for good', 'text', 'permanently'),
  words('half-way', 'text', 'partially'),
  words('what (is|was|are) there', 'text', 'actual state'),
  words('gives? away|gave away|given away', 'text', 'passes the ownership of'),
  {
    label: 'comment that begins with a relative clause',
    pattern: /^\/\*\*\s+(What|Who|Whoever|Whose|Where)\b/g,
    scope: 'text',
    say: 'a noun: the thing that is described',
  },
  words('proving[- ]ground|patience|witness', 'both', 'a name that says the role in the test'),
  words(
    'neighbours?|catalogues?|behaviours?|colours?|honours?|favours?|serialis\\w*|recognis\\w*|initialis\\w*|normalis\\w*|optimis\\w*|organis\\w*|summaris\\w*|unlabelled',
    'both',
    'the American spelling',
  ),
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

/** Uses of such a word that are right: the field itself says it so. */
export const exceptions: readonly {
  readonly file: RegExp;
  readonly text: RegExp;
  readonly why: string;
}[] = [];
