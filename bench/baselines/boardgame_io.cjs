// boardgame.io's own server, in memory, with its own socket clients: each match has two players who
// move in turn and wait for the server's word. The game is a counter: nothing but the server counts.
// A match has few moves, as ours have: its log goes with its state, so long ones are slow.
//
//   node boardgame_io.cjs FOLDER serve PORT
//   node boardgame_io.cjs FOLDER play PORT CLIENTS MOVES RUN
//
// FOLDER has node_modules with boardgame.io 0.50.2. `serve` prints "serving" once it does, `play` the
// moves a second; each is a process of its own.

const { createRequire } = require("node:module");
const path = require("node:path");

const [folder, role, port, clients, moves, run] = process.argv.slice(2);
const from = createRequire(path.join(path.resolve(folder), "package.json"));
const { Server, Origins } = from("boardgame.io/server");
const { Client } = from("boardgame.io/client");
const { SocketIO } = from("boardgame.io/multiplayer");

const game = {
  name: "counter",
  setup: () => ({ count: 0 }),
  turn: { minMoves: 1, maxMoves: 1 },
  moves: { count: ({ G }) => ({ count: G.count + 1 }) },
};

function player(server, matchID, playerID) {
  const client = Client({ game, matchID, playerID, numPlayers: 2, debug: false, multiplayer: SocketIO({ server }) });
  client.start();
  return client;
}

// Resolves when the server has confirmed that the match has come so far.
function reached(client, count) {
  return new Promise((resolve) => {
    const end = client.subscribe((state) => {
      if (state !== null && state.isConnected && state.G.count >= count) {
        setImmediate(() => end());
        resolve();
      }
    });
  });
}

async function play(server, number, each) {
  const pair = ["0", "1"].map((id) => player(server, `match-${run}-${number}`, id));
  await Promise.all(pair.map((client) => reached(client, 0)));
  return async () => {
    for (let count = 1; count <= each; count++) {
      const mover = pair[(count - 1) % 2];
      const other = pair[count % 2];
      // the other's client hears of it from the server only
      const heard = reached(other, count);
      mover.moves.count();
      // now and then a move is dropped, because the mover's client is not in step yet
      const again = setInterval(() => mover.moves.count(), 1000);
      await heard;
      clearInterval(again);
    }
    pair.forEach((client) => client.stop());
  };
}

async function serve() {
  const server = Server({ games: [game], origins: [Origins.LOCALHOST] });
  // with current koa its lobby answers 404 unless it has a port of its own
  await server.run({ port: Number(port), lobbyConfig: { apiPort: Number(port) + 1 }, callback: () => {} });
  console.log("serving");
}

async function main() {
  const url = `http://localhost:${port}`;
  const each = Math.max(1, Math.floor(Number(moves) / Number(clients)));
  const players = await Promise.all([...Array(Number(clients)).keys()].map((n) => play(url, n, each)));
  const began = process.hrtime.bigint();
  await Promise.all(players.map((run) => run()));
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  console.log(JSON.stringify({ rate: (each * Number(clients)) / seconds, moves: each * Number(clients) }));
  process.exit(0);
}

(role === "serve" ? serve : main)();
