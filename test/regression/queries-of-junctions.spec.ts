// @tags core
import { expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { declareUnchecked, problemsOf } from '../boot/refused-start.js';

@Entity('reg_tag')
class Tag {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

@Entity('reg_note')
class Note {
  @PrimaryGeneratedColumn() id: number;
  @ManyToMany(() => Tag) @JoinTable() tags: Relation<Tag[]>;
}

test('a misspelt filter, search or order of a junction refuses to start', async () => {
  restify(Tag, { app: 'reg' });
  declareUnchecked(Note, {
    app: 'reg',
    through: {
      tags: {
        filterFields: ['tga', 'tag.name'],
        searchFields: ['tag.name', 'id'],
        orderingFields: ['tag', 'nothing'],
        ordering: ['-tagg'],
      },
    },
  });
  expect(await problemsOf({ entities: [Note, Tag] })).toEqual([
    'Note.through.tags.filterFields[0]: "tga" is not a readable field of Note.through.tags. Did you mean "tag"?',
    'Note.through.tags.searchFields[1]: "id" is not a text. A search looks into texts; name it in filterFields instead.',
    expect.stringMatching(
      /^Note\.through\.tags\.orderingFields\[1\]: "nothing" is not a readable field of Note\.through\.tags\. /,
    ),
    expect.stringMatching(
      /^Note\.through\.tags\.ordering\[0\]: "tagg" is not a readable field of Note\.through\.tags\. /,
    ),
  ]);
  declareUnchecked(Note, {
    app: 'reg',
    through: {
      tags: {
        filterFields: { tag: ['exact', 'in'], 'tag.name': ['icontains'] },
        searchFields: ['tag.name'],
        orderingFields: ['tag.name'],
        ordering: ['-tag'],
      },
    },
  });
  await expect(problemsOf({ entities: [Note, Tag] })).rejects.toThrow('The application has started.');
});
