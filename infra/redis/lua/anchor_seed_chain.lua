-- Anchors a new chain of seeds: a leaf of the log, and the chain that draws use from now on.
--
-- KEYS  1 log  2 draws  3 why the shard is closed
-- ARGV  1 number of the chain before (0 if none)  2 number of this chain  3 anchor, in hex
--       4 the leaf's bytes  5 least index of the leaf  6 most, '' for any
-- Returns  1 | 0 (another process has anchored a chain) | -1 (the log's next index is another, or the
--          shard is closed and nothing is restored); nothing is written but with 1

if (redis.call('HGET', KEYS[2], 'chain') or '0') ~= ARGV[1] then
  return 0
end
local index = next_index(KEYS[1])
if index < tonumber(ARGV[5]) or (ARGV[6] ~= '' and index > tonumber(ARGV[6])) then
  return -1
end
if ARGV[6] == '' and redis.call('EXISTS', KEYS[3]) == 1 then
  return -1
end
redis.call('XADD', KEYS[1], string.format('%d-1', index), 'l', ARGV[4])
redis.call('HSET', KEYS[2], 'chain', ARGV[2], 'k', '0', 'anchor', ARGV[3],
  'index:' .. ARGV[2], string.format('%d', index))
return 1
