/** Replies of VPP as it prints them by release. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCipher } from '#vpp/wireguard/cipher.ts';

const bold = (text: string): string => `\u001B[1;32m${text}\u001B[0m`;
const active = (text: string): string => `\u001B[36m${text}\u001B[0m`;

/** @param engine of the cipher; the algorithms before and after it always have one */
const formats: Readonly<Record<string, (engine: string) => string>> = {
  'v24.10': (engine) => `Algo                Type            Simple                      Chained
des-cbc             encrypt         openssl*                    openssl*
chacha20-poly1305   aead-encrypt    ${engine}                    ${engine}
                    aead-decrypt    ${engine}                    ${engine}
hmac-md5            hmac            openssl*                    openssl*
`,
  'v25.10': (engine) => `des-cbc:\r
  encrypt:\r
    simple: openssl*\r
chacha20-poly1305:\r
  encrypt:\r
    simple: ${engine}\r
    chained: ${engine}\r
  decrypt:\r
    simple: ${engine}\r
chacha20-poly1305-aad8:\r
  encrypt:\r
    simple: openssl*\r
`,
  'v26.06': (engine) => `${bold('des-cbc                      ')} enc  ${active('openssl*')}\r
${bold('chacha20-poly1305            ')} enc  ${active(engine)} \r
${bold('                             ')} dec  ${active(engine)} \r
${bold('chacha20-poly1305-icv16-aad8 ')} enc  ${active('openssl*')} \r
`,
};

describe('the cipher of WireGuard', () => {
  for (const [release, format] of Object.entries(formats))
    it(`is known from what VPP ${release} prints`, () => {
      assert.ok(hasCipher(format('openssl*')));
      assert.ok(!hasCipher(format('-')));
    });

  it('is taken as given in a format that is not known', () => {
    assert.ok(hasCipher('unknown input\n'));
  });
});
