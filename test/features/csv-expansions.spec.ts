// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  allow,
  CsvRenderer,
  ModelSerializer,
  NdjsonRenderer,
  PageNumberPagination,
  Restify,
  where,
} from 'nestjs-restify';
import type { AccessContext, Grant, Permission, Representation } from 'nestjs-restify';
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, OneToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** `some` sees open questions and not their notes. */
class Questions implements Permission {
  decide({ request }: AccessContext): Grant {
    const role = (request as { readonly headers: Readonly<Record<string, string>> }).headers['x-role'];
    return role === 'some'
      ? allow({ rows: where('secret', false), readable: ['id', 'text', 'poll'] })
      : allow();
  }
}

class Shouting extends ModelSerializer {
  override represent(...given: Parameters<ModelSerializer['represent']>): Representation {
    return { SHOUT: super.represent(...given).name };
  }
}

const RENDERERS = [new CsvRenderer(), new NdjsonRenderer()];

@Restify('ce')
@Entity('ce_poll')
class Poll {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
}

@Restify({ app: 'ce', serializer: Shouting })
@Entity('ce_owner')
class Owner {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
}

@Restify({
  app: 'ce',
  permissions: [Questions],
  renderers: RENDERERS,
  shape: true,
  expandable: ['choices', 'detail', 'owner'],
})
@Entity('ce_question')
class Question {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 40 }) text: string;
  @Column({ type: 'varchar', length: 20, nullable: true }) note: string | null;
  @Column({ default: false }) secret: boolean;
  @ManyToOne(() => Poll, { nullable: true }) poll: Relation<Poll> | null;
  @ManyToOne(() => Owner, { nullable: true }) owner: Relation<Owner> | null;
  @OneToMany(() => Choice, (choice) => choice.question) choices: Relation<Choice[]>;
  @OneToOne(() => Detail, (detail) => detail.question) detail: Relation<Detail> | null;
}

@Restify('ce')
@Entity('ce_detail')
class Detail {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) hint: string;
  @OneToOne(() => Question, (question) => question.detail) @JoinColumn() question: Relation<Question>;
}

@Restify({
  app: 'ce',
  renderers: RENDERERS,
  shape: true,
  expandable: ['question.poll'],
  filterFields: ['text'],
})
@Entity('ce_choice')
class Choice {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) text: string;
  @ManyToOne(() => Question, (question) => question.choices, { nullable: true })
  question: Relation<Question> | null;
}

@Restify({
  app: 'ce',
  renderers: RENDERERS,
  shape: true,
  expandable: ['choice'],
  pagination: new PageNumberPagination({ pageSize: 1 }),
})
@Entity('ce_vote')
class Vote {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Choice) choice: Relation<Choice>;
}

onEachDatabase('CSV with expanded objects', (database) => {
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({ database, entities: [Poll, Owner, Question, Detail, Choice, Vote] });
    const { manager } = started.dataSource;
    await manager.insert(Poll, { name: 'Spring' });
    await manager.insert(Owner, { name: 'Ann' });
    await manager.insert(Question, [
      { text: '=1+1, "why"', note: 'inner', poll: { id: 1 }, owner: { id: 1 } },
      { text: 'Hidden', secret: true },
    ]);
    await manager.insert(Detail, { hint: 'look', question: { id: 1 } });
    await manager.insert(Choice, [
      { text: 'a', question: { id: 1 } },
      { text: 'b', question: null },
      { text: 'c', question: { id: 2 } },
    ]);
    await manager.insert(Vote, [{ choice: { id: 1 } }, { choice: { id: 2 } }]);
  });

  afterAll(() => started.close());

  async function read(path: string, role = 'all'): Promise<readonly string[]> {
    const { text } = await started.client.get(`/rest/v1/ce/${path}`, { headers: { 'x-role': role } });
    return text.split('\r\n').slice(0, -1);
  }

  test('each field of the object has a column, and without an object they are empty', async () => {
    expect(await read('choice/?format=csv&expand=question')).toEqual([
      'id,text,question.id,question.text,question.note,question.secret,question.poll,question.owner,question.choices,question.detail',
      `1,a,1,"'=1+1, ""why""",inner,false,1,1,/rest/v1/ce/question/1/choices/,1`,
      '2,b,,,,,,,,',
      '3,c,2,Hidden,,true,,,/rest/v1/ce/question/2/choices/,',
    ]);
  });

  test('without expand, and for a key alone, the columns are those of the fields', async () => {
    expect(await read('choice/?format=csv')).toEqual(['id,text,question', '1,a,1', '2,b,', '3,c,2']);
  });

  test('the grants on the related model hold, and the key of a hidden object stands in the column of the key', async () => {
    expect(await read('choice/?format=csv&expand=question', 'some')).toEqual([
      'id,text,question.id,question.text,question.poll',
      `1,a,1,"'=1+1, ""why""",1`,
      '2,b,,,',
      '3,c,2,,',
    ]);
  });

  test('fields are selected, and objects in objects have longer names', async () => {
    expect(
      await read('choice/?format=csv&expand=question.poll&fields=text,question.text,question.poll.name'),
    ).toEqual(['text,question.text,question.poll.name', `a,"'=1+1, ""why""",Spring`, 'b,,', 'c,Hidden,']);
    expect(await read('choice/?format=csv&expand=question&fields=question.text', 'some')).toEqual([
      'question.text',
      `"'=1+1, ""why"""`,
      '',
      '',
    ]);
  });

  test('a list without rows has the same columns', async () => {
    expect(await read('choice/?format=csv&expand=question&fields=text,question.text&text=none')).toEqual([
      'text,question.text',
    ]);
  });

  test('objects, pages and nested lists have them, too, and one-to-one relations from both sides', async () => {
    expect(await read('choice/1/?format=csv&expand=question&fields=id,question.text')).toEqual([
      'id,question.text',
      `1,"'=1+1, ""why"""`,
    ]);
    expect(await read('vote/?format=csv&expand=choice')).toEqual([
      'id,choice.id,choice.text,choice.question',
      '1,1,a,1',
    ]);
    expect(await read('question/1/choices/?format=csv&expand=question&fields=text,question.id')).toEqual([
      'text,question.id',
      'a,1',
    ]);
    expect(await read('question/?format=csv&expand=detail&fields=id,detail.hint')).toEqual([
      'id,detail.hint',
      '1,look',
      '2,',
    ]);
  });

  test('lists, and objects with a serializer of their own, remain JSON in one cell', async () => {
    expect(await read('question/1/?format=csv&expand=choices,owner&fields=id,choices.text,owner')).toEqual([
      'id,owner,choices',
      '1,"{""SHOUT"":""Ann""}","[{""text"":""a""}]"',
    ]);
  });

  test('other formats are as before', async () => {
    const { text } = await started.client.get(
      '/rest/v1/ce/choice/?expand=question&fields=id,question.text&format=ndjson',
    );
    expect(text.split('\n')[1]).toBe('{"id":2,"question":null}');
  });
});
