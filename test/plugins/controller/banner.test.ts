import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { arrivalBanner, outcomeBanner, wrap } from '#plugins/controller/banner.ts';
import { AddPod } from '#plugins/podmanager/api.ts';

const pod = {
  pod: { namespace: 'kube-system', name: 'coredns-78fcdf6894-k5sd4' },
  containerId: '740ee06ac2bc0843291614f4d8348e2a61d78b1ee1681b07a52eff63930ccb6e',
  interfaceName: 'eth0',
  networkNamespace: '/proc/25738/ns/net',
  ipamType: '',
  ipamData: '',
};
const lines = (...texts: string[]) =>
  texts.map((text) => (text.length === 1 ? text.repeat(130) : text));

describe('log boxes', () => {
  it('announce an event', () => {
    const text = arrivalBanner({
      seqNum: 2,
      followUpTo: undefined,
      description: AddPod.describe(pod),
      handlers: ['podmanager', 'ipnet', 'service'],
    });
    assert.deepEqual(text.split('\n'), [
      ...lines(
        '>',
        `*   NEW EVENT: Add Pod kube-system/coredns-78fcdf6894-k5sd4${' '.repeat(66)} #2 *`,
        `*              * Container: 740ee06ac2bc0843291614f4d8348e2a61d78b1ee1681b07a52eff63930ccb6e${' '.repeat(36)} *`,
        `*              * Network namespace: /proc/25738/ns/net${' '.repeat(74)} *`,
        `*   EVENT HANDLERS: podmanager, ipnet, service${' '.repeat(82)} *`,
        '>',
      ),
      '',
    ]);
  });

  it('sum an event up', () => {
    const text = outcomeBanner({
      seqNum: 2,
      description: AddPod.describe(pod),
      handledBy: ['podmanager', 'ipnet'],
      revertedBy: ['podmanager'],
      errors: ['ipnet: pool is exhausted'],
      transactionError: 'KeyErrors: [a (CREATE): b]',
      hasTransaction: true,
      tookMs: 722.6,
    });
    const body = text.split('\n').slice(1, -2);
    assert.deepEqual(
      body.map((line) => line.slice(4, -2).trimEnd().replace(/ {3,}/, ' … ')),
      [
        'FINALIZED EVENT: Add Pod kube-system/coredns-78fcdf6894-k5sd4 … #2',
        'HANDLED BY: podmanager, ipnet … took 723ms',
        'ERRORS:',
        ' … * ipnet: pool is exhausted',
        'REVERTED BY: podmanager',
        'TRANSACTION ERROR:',
        ' … * KeyErrors: [a (CREATE): b]',
      ],
    );
  });

  it('say when only the agent below handled it', () => {
    const outcome = {
      seqNum: 1,
      description: 'x',
      handledBy: [],
      revertedBy: [],
      errors: [],
      transactionError: undefined,
      tookMs: 1,
    };
    assert.match(outcomeBanner({ ...outcome, hasTransaction: true }), /HANDLED BY VPP-AGENT/);
  });

  it('are 130 wide in every line, whatever is in them', () => {
    const text = fc.string({ maxLength: 400, unit: fc.constantFrom('a', 'bc', ' ', '\n', '/') });
    fc.assert(
      fc.property(text, fc.array(text), fc.nat(), (description, names, seqNum) => {
        const handlers = names.map((name) => name.replaceAll('\n', ''));
        const boxes = [
          arrivalBanner({ seqNum, followUpTo: seqNum, description, handlers }),
          outcomeBanner({
            seqNum,
            description,
            handledBy: handlers,
            revertedBy: handlers,
            errors: names,
            transactionError: description,
            hasTransaction: true,
            tookMs: seqNum,
          }),
        ];
        for (const box of boxes) {
          assert.ok(box.endsWith('\n'));
          for (const line of box.slice(0, -1).split('\n')) assert.equal(line.length, 130, line);
        }
      }),
    );
  });

  it('are as wide with characters of two columns or none, and divide none of them', () => {
    const unit = fc.constantFrom('a', ' ', '日', '한', 'é', 'e\u0301', '🙂', '🇩🇪', '\n');
    fc.assert(
      fc.property(fc.string({ maxLength: 300, unit }), fc.nat(), (description, seqNum) => {
        const box = outcomeBanner({
          seqNum,
          description,
          handledBy: [],
          revertedBy: [],
          errors: [description],
          transactionError: description,
          hasTransaction: true,
          tookMs: 1,
        });
        assert.ok(box.isWellFormed());
        for (const line of box.slice(0, -1).split('\n')) assert.equal(stringWidth(line), 130, line);
        assert.doesNotMatch(box, /^\*\s+\u0301/m);
      }),
    );
  });

  it('have one bullet for an error of several lines', () => {
    const text = outcomeBanner({
      seqNum: 2,
      description: 'x',
      handledBy: ['a'],
      revertedBy: [],
      errors: ['a: first\n    at second\nthird', 'b: no'],
      transactionError: undefined,
      hasTransaction: false,
      tookMs: 1,
    });
    const shown = text.split('\n').map((line) => line.slice(4, -2).trimEnd());
    assert.deepEqual(shown.slice(shown.indexOf('ERRORS:') + 1, -2), [
      '    * a: first',
      '          at second',
      '      third',
      '    * b: no',
    ]);
  });

  it('show no character that a terminal obeys', () => {
    const description = 'Add Pod default/a\u001b[2J\rb\u009bc\u202ed\u2028e';
    const arrival = { seqNum: 1, followUpTo: undefined, handlers: [] };
    assert.match(
      arrivalBanner({ ...arrival, description }),
      /Add Pod default\/a\\x1b\[2J\\x0db\\x9bc\\u\{202e\}d\\u\{2028\}e /,
    );
    const outcome = { seqNum: 1, description, handledBy: [], revertedBy: [], tookMs: 1 };
    const failed = { errors: ['a\u0007'], transactionError: 'b\u0000', hasTransaction: true };
    assert.doesNotMatch(outcomeBanner({ ...outcome, ...failed }), /[^\P{Cc}\n]/u);
  });

  it('end, and soon, for texts of any length and indent', () => {
    const blanks = ' '.repeat(150);
    assert.ok(wrap(blanks + 'word '.repeat(50)).every((line) => line.length <= 110));
    const long = 'x'.repeat(2_000_000);
    const wrapped = wrap(long);
    assert.equal(wrapped.map((line) => line.trimStart()).join(''), long);
    const description = Array.from({ length: 5000 }, (_, n) => `line ${n}`).join('\n');
    const text = arrivalBanner({ seqNum: 1, followUpTo: undefined, description, handlers: [] });
    assert.ok(text.split('\n').length < 210);
    assert.match(text, /… 4800 more lines/);
  });

  it('wrap at spaces, keep the indent and lose no word', () => {
    const words = Array.from({ length: 60 }, (_, i) => `word${i}`);
    const wrapped = wrap(`  * ${words.join(' ')}`);
    assert.ok(wrapped.every((line) => line.length <= 110));
    assert.ok(wrapped.slice(1).every((line) => line.startsWith(' '.repeat(8))));
    assert.deepEqual(wrapped.join(' ').split(/\s+/).slice(2), words);
  });
});
