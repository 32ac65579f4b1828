import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Type } from 'typebox';
import { orNull } from '#documents/document.ts';
import { agentDocument } from '#netctl/requests/agent-document.ts';

const Part = Type.Object({ name: Type.String(), error: Type.Optional(Type.String()) });

const Whole = Type.Object({
  id: Type.Integer(),
  text: Type.String(),
  isThere: Type.Boolean(),
  state: Type.Enum(['on', 'off']),
  list: Type.Array(Part),
  byName: Type.Record(Type.String(), Part),
  port: orNull(Type.Integer(), ''),
  part: orNull(Part, ''),
  value: Type.Unknown(),
});

describe('a document of an agent', () => {
  it('stays as it is, with the fields that its schema does not have', () => {
    const document = {
      id: 1,
      text: 'a',
      isThere: true,
      state: 'on',
      list: [{ name: 'b', more: 1 }],
      byName: { c: { name: 'c', error: 'no' } },
      port: 80,
      part: null,
      value: { any: [1] },
      added: 'later',
    };
    assert.deepEqual(agentDocument(Whole, document), document);
  });

  it('is empty where fields are missing or of another type', () => {
    const document = { id: '1', text: 7, list: [1, { error: null }], byName: [], port: null };
    assert.deepEqual(agentDocument(Whole, document), {
      id: 0,
      text: '7',
      isThere: false,
      state: '',
      list: [{ name: '' }, { name: '' }],
      byName: {},
      port: null,
      part: null,
      value: null,
    });
  });

  it('is none of an agent without any field of its schema', () => {
    for (const other of [{ hello: 1 }, [], 'text', null, 7])
      assert.equal(agentDocument(Whole, other), undefined, JSON.stringify(other));
    // The encoder of the original writes an empty list as null.
    assert.deepEqual(agentDocument(Type.Array(Part), null), []);
    assert.equal(agentDocument(Type.Array(Part), { hello: 1 }), undefined);
    assert.equal(agentDocument(Whole.properties.byName, { hello: 1 }), undefined);
    assert.equal(agentDocument(Type.String(), { hello: 1 }), undefined);
  });
});
