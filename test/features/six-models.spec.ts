// @tags db http nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ClubModule } from '../../sample-app/src/club/club.module.js';
import { DeskModule } from '../../sample-app/src/desk/desk.module.js';
import { ENTITIES } from '../../sample-app/src/data-source-options.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

onEachDatabase('the six models of the sample application', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: ENTITIES, imports: [ClubModule, DeskModule], database });
  });
  afterAll(() => started.close());

  test('creates, lists, retrieves, changes and deletes a question and its choices', async () => {
    const { client } = started;
    const created = await client.post('/rest/v1/polls/question/', {
      question_text: "What's new?",
      pub_date: '2022-10-02T09:23:28.297Z',
    });
    expect(created.status).toBe(201);
    const question = {
      id: 1,
      question_text: "What's new?",
      pub_date: expect.stringMatching(/^2022-10-02T09:23:28\.297(000)?Z$/),
      choices: '/rest/v1/polls/question/1/choices/',
    };
    expect(created.json).toEqual(question);
    expect(created.headers.location).toBe(`http://127.0.0.1:${started.port}/rest/v1/polls/question/1/`);
    const choice = await client.post('/rest/v1/polls/choice/', { choice_text: 'Not much', question: 1 });
    expect([choice.status, choice.json]).toEqual([
      201,
      { id: 1, choice_text: 'Not much', votes: 0, question: 1 },
    ]);
    expect((await client.patch('/rest/v1/polls/choice/1/', { votes: '3' })).json).toEqual({
      id: 1,
      choice_text: 'Not much',
      votes: 3,
      question: 1,
    });
    expect((await client.get('/rest/v1/polls/question/1/choices/')).json).toEqual([
      { id: 1, choice_text: 'Not much', votes: 3, question: 1 },
    ]);
    expect((await client.delete('/rest/v1/polls/question/1/')).status).toBe(204);
    expect((await client.get('/rest/v1/polls/choice/')).json).toEqual([]);
  });

  test('serves the through objects of a many-to-many below both of its sides', async () => {
    const { client } = started;
    await client.post('/rest/v1/edu/student/', { name: 'Alan' });
    await client.post('/rest/v1/edu/student/', { name: 'Grace' });
    await client.post('/rest/v1/edu/course/', { name: 'Logic' });
    expect((await client.post('/rest/v1/edu/student/1/course_set/', { course: 1 })).json).toEqual({
      id: 1,
      course: 1,
      student: 1,
    });
    expect((await client.get('/rest/v1/edu/course/1/student/1/')).json).toEqual({
      id: 1,
      course: 1,
      student: 1,
    });
    expect((await client.patch('/rest/v1/edu/course/1/student/1/', { student: 2 })).json).toEqual({
      id: 1,
      course: 1,
      student: 2,
    });
    expect((await client.get('/rest/v1/edu/student/1/course_set/1/')).status).toBe(404);
    expect((await client.post('/rest/v1/edu/student/1/friends/', { to_student: 2 })).json).toEqual({
      id: 1,
      from_student: 1,
      to_student: 2,
    });
  });

  test('serves a plain junction, and replaces a pair whose other side changes', async () => {
    const { client } = started;
    await client.post('/rest/v1/library/author/', { name: 'Kernighan' });
    await client.post('/rest/v1/library/author/', { name: 'Ritchie' });
    await client.post('/rest/v1/library/book/', { title: 'C' });
    expect((await client.post('/rest/v1/library/book/1/authors/', { author: 1 })).json).toEqual({
      id: 1,
      book: 1,
      author: 1,
    });
    expect((await client.patch('/rest/v1/library/book/1/authors/1/', { author: 2 })).json).toEqual({
      id: 2,
      book: 1,
      author: 2,
    });
    expect((await client.get('/rest/v1/library/book/1/authors/1/')).status).toBe(404);
    expect((await client.get('/rest/v1/library/author/2/books/')).json).toEqual([
      { id: 1, book: 1, author: 2 },
    ]);
  });

  test('filters every one of them by each of its fields, and orders them by their keys', async () => {
    const { client } = started;
    const made = async (path: string, body: object): Promise<number> => {
      const { status, json } = await client.post(`/rest/v1/${path}/`, body);
      expect([path, status]).toEqual([path, 201]);
      return (json as { id: number }).id;
    };
    const question = await made('polls/question', {
      question_text: 'Which?',
      pub_date: '2022-10-03T09:23:28.297Z',
    });
    await made('polls/question', { question_text: 'Another?', pub_date: '2021-10-02T09:23:28.297Z' });
    const other = await made('polls/question', {
      question_text: 'A third?',
      pub_date: '2020-10-02T09:23:28.297Z',
    });
    for (const [choice_text, votes, of] of [
      ['Zebra', 1, other],
      ['Sky, blue', 9, question],
      ['Ant', 5, other],
    ] as const) {
      await made('polls/choice', { choice_text, votes, question: of });
    }
    const names = [
      ['Zoe', 'Zoology', 'BSc'],
      ['Ada', 'Mathematics', 'PhD'],
      ['Bob', 'Art', 'MA'],
    ] as const;
    const students: number[] = [];
    for (const [name, discipline, program] of names)
      students.push(await made('lab/student', { name, discipline, program }));
    for (const [index, name] of ['Z engine', 'Analytical Engine', 'B engine'].entries())
      await made('lab/system', { name, location: `Room ${9 - index}`, student: students[index] });
    for (const name of ['Zeno', 'Ada', 'Bob']) {
      await made('edu/student', { name });
      await made('edu/course', { name });
    }
    for (const path of [
      'polls/question',
      'polls/choice',
      'lab/student',
      'lab/system',
      'edu/student',
      'edu/course',
    ]) {
      const rows = (await client.get(`/rest/v1/${path}/`)).json as readonly Readonly<
        Record<string, unknown>
      >[];
      const keys = rows.map(({ id }) => Number(id));
      expect([path, keys.length >= 3, keys]).toEqual([path, true, [...keys].sort((a, b) => a - b)]);
      const row = rows.at(-2) ?? {};
      // Links, and the reverse side of a one-to-one, are no columns.
      const fields = Object.entries(row).filter(
        ([name, value]) => !String(value).startsWith('/') && !(path === 'lab/student' && name === 'system'),
      );
      for (const [name, value] of fields) {
        const kept = (await client.get(`/rest/v1/${path}/?${name}=${encodeURIComponent(String(value))}`))
          .json;
        expect([path, name, kept]).toEqual([path, name, rows.filter((each) => each[name] === value)]);
      }
    }
  });

  test('takes a key that no row can have in a filter for a key of no row', async () => {
    const answer = await started.client.get('/rest/v1/polls/choice/?question=99999999999999999999');
    expect([answer.status, answer.json]).toEqual([200, []]);
    const number = await started.client.get('/rest/v1/polls/choice/?votes=99999999999999999999');
    expect([number.status, Object.keys(number.json as object)]).toEqual([400, ['votes']]);
  });
});
