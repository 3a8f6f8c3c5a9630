-- Anchors a new chain of seeds: a leaf of the log, and the chain that draws use from now on.
--
-- KEYS  1 log  2 draws  3 why the shard is closed
-- ARGV  1 number of the chain before (0 if none)  2 number of this chain  3 anchor, in hex
--       4 the leaf's bytes  5 least index of the leaf  6 most, '' for any
-- Returns  1 | 0 (another process has anchored a chain) | -1 (the log's next index is another, or the
--          shard is closed and nothing is restored); nothing is written but with 1

local log, seed_chain, closed = unpack(KEYS)
local before, chain, anchor, leaf, least, most = unpack(ARGV)

if (redis.call('HGET', seed_chain, 'chain') or '0') ~= before then
  return 0
end
local index = next_index(log)
if index < tonumber(least) or (most ~= '' and index > tonumber(most)) then
  return -1
end
if most == '' and redis.call('EXISTS', closed) == 1 then
  return -1
end
redis.call('XADD', log, string.format('%d-1', index), 'l', leaf)
redis.call('HSET', seed_chain, 'chain', chain, 'k', '0', 'anchor', anchor,
  'index:' .. chain, string.format('%d', index))
return 1
