-- Returns up to which time a shard's log is complete, and how far it goes, at one moment.
--
-- KEYS  1 inbox  2 log  3 floor of the shard's clock
-- ARGV  1 the time in ms, or '' for TIME  2 ms by which the floor may be ahead of the time
--       3 ms by which the floor is raised at least, or '' to write nothing
-- Returns  {ms before which nothing more can come, index the log's next leaf will have,
--           the time in ms, or the floor where that is ahead; up to where the floor can be raised}
--
-- Nothing is promised but the floor, because a clock may step back after any other promise.

local now, most = tonumber(time_ms(ARGV[1])), tonumber(ARGV[2])
local floor = floor_ms(KEYS[3], now, most)
local found = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)
local oldest = #found > 0 and received_ms(found) or math.max(now, floor)
if ARGV[3] ~= '' and oldest >= floor + tonumber(ARGV[3]) then
  redis.call('SET', KEYS[3], string.format('%d', oldest))
  floor = oldest
end
return {math.min(oldest, floor), next_index(KEYS[2]), math.max(now, floor), oldest}
