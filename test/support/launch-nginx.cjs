'use strict';
const { writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { findProgram, LOOPBACK, pathFolders, startServer } = require('./start-server.cjs');

/** Where distributions put it, which is often not in the `PATH` of a user. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/bin', '/usr/local/bin'];

exports.findNginx = function findNginx() {
  return findProgram(['nginx'], [...pathFolders(), ...FOLDERS]);
};

/**
 * An nginx of its own on a free port of the loopback, from the binary that is installed (`scripts/install-programs.mjs`).
 * `listen` is added to the directive of that name, `upstream` and `location` are the content of these blocks. Or `http` gives the
 * whole content of that block, for a port.
 *
 * @returns {Promise<{ port: number, stop: () => Promise<void> }>}
 */
exports.launchNginx = async function launchNginx({ http, listen = '', upstream, location }) {
  const program = exports.findNginx();
  if (!program) throw new Error('nginx is missing: run node scripts/install-programs.mjs');
  return startServer({
    name: 'nginx',
    parent: tmpdir(),
    users: ['www-data', 'nobody'],
    plan: (folder, port) => {
      const file = join(folder, 'nginx.conf');
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (each) => `${each}_temp_path ${folder}/${each};`,
      );
      writeFileSync(
        file,
        `daemon off; error_log stderr notice; pid ${folder}/pid; worker_processes 1;
events { worker_connections 64; }
http {
  access_log off; ${temporary.join(' ')}
  ${http ? http(`${LOOPBACK}:${port}`) : toHttp({ listen: `${LOOPBACK}:${port} ${listen}`, upstream, location })}
}
`,
      );
      return {
        fill: { program, args: ['-e', 'stderr', '-t', '-c', file] },
        server: { program, args: ['-e', 'stderr', '-c', file] },
        ready: 'start worker processes',
        signal: 'SIGTERM',
      };
    },
  });
};

function toHttp({ listen, upstream, location }) {
  return `upstream application { ${upstream} }
  server {
    listen ${listen};
    location / { proxy_pass http://application; ${location} }
  }`;
}
